"""A small course of mechanics, on which the engine's tests try everything."""

c = get_config()

c.CourseDirectory.course_id = "mechanics"

c.Course.assignments = [
    {"id": "m01_motion", "title": "Falling and driving", "guessed": (0.03, "it is so short")},
    {"id": "m02_energy", "title": "The energy of a spring"},
]

# A hang is stopped soon: tests wait for it.
c.Course.limits = {"cell_seconds": 2.0, "call_seconds": 2.0, "memory_mb": 1024}

c.Course.demo = ["m01_motion"]
