package io.penstock.format.parquet;

/**
 * How the values of a leaf of the schema are stored.
 *
 * <p>A definition level says how many of the optional and repeated nodes on the path to the leaf are there; a
 * repetition level says which of the repeated ones goes on, and 0 starts a row.
 *
 * @param index its place among the schema's leaves, and so among a row group's chunks
 * @param physical the values' type
 * @param storedBytes of a value, once decoded; 0 if they vary
 * @param maxDefinition the level of a value that is there
 * @param maxRepetition how many of the nodes on its path are repeated
 * @param isNull whether it has no values
 */
record StoredLeaf(int index, Physical physical, int storedBytes, int maxDefinition, int maxRepetition,
        boolean isNull) {

    /** Whether values are of different lengths, in bytes. */
    boolean isBinary() {
        return physical == Physical.BYTE_ARRAY;
    }
}
