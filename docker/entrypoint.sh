#!/usr/bin/env bash
# Sources ROS 2 and Pliant's packages, then runs the command.
set -eo pipefail
source "/opt/ros/${ROS_DISTRO}/setup.bash"
source /opt/pliant/.venv/bin/activate
source /opt/pliant/.venv/ws/install/local_setup.bash
exec "$@"
