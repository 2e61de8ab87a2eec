"""What students are given: notebooks, numbers, what checks them, and what they practise with."""
