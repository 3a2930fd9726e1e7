"""One straight line through the rooms per job: compare, simulate, judge; what they share stands beside them."""
