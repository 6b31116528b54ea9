"""The parts of `initial_loss`: what is known of a body, its budget, and the answer."""
