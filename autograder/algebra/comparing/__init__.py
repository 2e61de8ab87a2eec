"""Whether two answers say the same: counterexamples by numbers, certificates by proof."""
