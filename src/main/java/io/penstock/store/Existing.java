package io.penstock.store;

/** What a writer does if the file or store that it writes exists. */
public enum Existing {
    /** Fail with a {@link java.nio.file.FileAlreadyExistsException} and leave it as it is. */
    KEEP,
    /** Replace it when the new one is complete. */
    REPLACE
}
