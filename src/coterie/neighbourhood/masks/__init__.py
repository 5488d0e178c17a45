"""Who lends among the members of leaves that lend in part, as zeros and ones."""
