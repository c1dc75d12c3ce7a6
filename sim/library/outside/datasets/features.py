"""The types of columns."""
from datasets import ClassLabel
