"""Who tied, and when: heads of 2018 to 2020, releases since, shares by year."""
