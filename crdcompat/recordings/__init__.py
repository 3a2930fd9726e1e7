"""Recorded objects: the layouts of must-gathers and their like, and the objects in them."""
