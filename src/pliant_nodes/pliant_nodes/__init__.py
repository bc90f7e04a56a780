"""The ROS 2 nodes of Pliant: they convert, call the library, convert and publish."""
