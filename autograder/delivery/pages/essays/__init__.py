"""Free text by exercise: sheets for markers, without names, and the marks back in.

nbgrader's gradebook stays the one place where marks are: a sheet is a view of it, stamped with what
it was when the sheet was written.
"""
