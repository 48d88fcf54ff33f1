"""Writes, for a header, the C statements that print what its binary interface is: structures, fields, numbers of enumerations."""
import re
import sys

text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
text = re.sub(r"//[^\n]*", "", text)
for kind, body, name in re.findall(r"typedef struct (\w+) \{(.*?)\} (\w+);", text, flags=re.S):
    print(f"S({name});")
    for declaration in body.split(";"):
        declaration = declaration.strip()
        if not declaration:
            continue
        # The first declarator has the type in front; arrays and pointers drop their marks.
        for number, declarator in enumerate(declaration.split(",")):
            field = re.sub(r"\[.*?\]", "", declarator).split()[-1].lstrip("*")
            print(f"F({name}, {field});")
for body in re.findall(r"enum \w+ \{(.*?)\};", text, flags=re.S):
    for entry in body.split(","):
        if entry.strip():
            print(f"N({entry.split('=')[0].strip()});")
