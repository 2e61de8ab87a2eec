"""What is said of an answer that can't be read."""


class FormatError(ValueError):
    """The answer can't be read; the message is shown to the student."""
