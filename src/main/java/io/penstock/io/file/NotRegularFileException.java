// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.file;

import java.io.Serial;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** A path is not a regular file: reading it might block or never end. The message says what it is. */
public final class NotRegularFileException extends FileSystemException {

    @Serial
    private static final long serialVersionUID = 1;

    NotRegularFileException(Path path, String found) {
        super(path.toString(), null, found + ", expected a regular file");
    }
}
