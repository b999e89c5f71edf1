package io.penstock.convert;

import java.nio.file.Path;
import java.util.List;

/** How many records were written, and the files that hold them. */
record Outcome(long records, List<Path> files) {
}
