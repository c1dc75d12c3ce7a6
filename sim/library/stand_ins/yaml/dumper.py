from yaml import Dumper, SafeDumper

BaseDumper = SafeDumper
