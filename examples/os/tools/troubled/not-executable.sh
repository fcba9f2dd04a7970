#!/bin/sh
# Has no execute bit, and the policies here name no runner for .sh.
echo "Never printed"
