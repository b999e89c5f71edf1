// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.file;

import java.io.Serial;
import java.nio.file.FileSystemException;

/** A file stands for data that were not fetched, such as a Git LFS pointer. The message says what fetches them. */
public final class PlaceholderException extends FileSystemException {

    @Serial
    private static final long serialVersionUID = 1;

    PlaceholderException(Object file, String found, String command) {
        super(file.toString(), null, "found " + found + ", expected the data; fetch them with '" + command + "'");
    }
}
