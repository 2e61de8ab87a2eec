"""The kinds of answer: how each is read, and when two are the same."""
