"""Killed from outside at two thirds of the limit."""
from mem import *
role('main')
keep = block(260)
steady(60)
