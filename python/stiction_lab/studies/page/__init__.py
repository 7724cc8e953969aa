"""The tables of the studies' pages in docs/, generated from the stored documents."""
