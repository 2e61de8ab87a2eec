"""Courses on disk: discover exercises, release, read submissions, simulate, verify."""
