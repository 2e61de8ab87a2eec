"""Everything that leaves the course: gradebook, hand-outs, collections, feedback, reports.

This layer alone knows nbgrader.  Import its modules where they are used: nbgrader is slow to load.
"""
