"""What chapter 4 shares: layers, heads and whole models made wider, rightly and wrongly."""
