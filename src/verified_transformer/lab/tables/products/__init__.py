"""What a product of short vectors is, where its entries stand, and how it is trained."""
