// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import java.nio.file.Path;
import java.util.List;

/** The number of records written, and their files. */
record Outcome(long records, List<Path> files) {
}
