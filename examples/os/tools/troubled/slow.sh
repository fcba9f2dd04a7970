#!/bin/sh
# Takes longer than the five seconds that a tool has for its description.
sleep 60
echo "Too late"
