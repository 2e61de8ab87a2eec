"""What nbgrader reads: the course, and the engine in the place of nbgrader's own execution."""

from autograder.delivery.nbgrader_settings import configure

c = get_config()
load_subconfig("course_config.py")
configure(c)
