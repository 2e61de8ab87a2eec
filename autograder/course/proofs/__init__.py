"""What `verify` tries on an exercise, one room of proofs a file."""
