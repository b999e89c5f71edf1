package io.penstock.diagnose.data;

/** Two profiles are of batches with other fields, and so not of one dataset. */
public final class DataShapeException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    /**
     * Says in what they differ.
     *
     * @param message the first field that differs, as found and as expected
     */
    public DataShapeException(String message) {
        super(message);
    }
}
