# Compile a program of this folder, and run it.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O2 -o "$folder/program" "$1" -lm && "$folder/program"
