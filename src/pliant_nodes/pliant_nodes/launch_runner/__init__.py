"""Runs the subset of ROS 2 launch files that this project uses, where ROS 2 has no `launch`."""
