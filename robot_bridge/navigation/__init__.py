"""Localisation of the robot, the map of the place, and driving to goals on the map."""
