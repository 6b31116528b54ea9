"""`initial_loss` and its parts: what is known of a body, its budget, the prediction, the answer."""
