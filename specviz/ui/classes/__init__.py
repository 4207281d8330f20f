"""The page "Class board", and what Play and Learn show of a class."""
