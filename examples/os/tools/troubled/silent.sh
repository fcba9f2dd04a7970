#!/bin/sh
# Succeeds with whatever it is asked, and says nothing.
exit 0
