"""Recorded objects: the layouts of must-gathers and similar recordings, and the objects in them."""
