// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

/** What a writer does if its target exists. */
public enum IfExists {
    /** Throw a {@link java.nio.file.FileAlreadyExistsException}. */
    FAIL,
    /** Replace it atomically. */
    REPLACE
}
