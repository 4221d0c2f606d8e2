"""A script with a wrong indent does not even start."""
import os

def main():
    x = 1
      y = 2

main()
