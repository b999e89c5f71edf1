// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

/**
 * What a schema says of a node beyond its physical type: a logical type, or the converted type of older writers.
 *
 * @param bits the width of an integer
 * @param unit of a time: 1 for milliseconds, 2 for microseconds, 3 for nanoseconds; otherwise 0
 */
record Annotation(Meaning meaning, int bits, boolean isSigned, int unit, boolean isInstant) {

    /** The meanings of values, in the order of the fields of a logical type. */
    enum Meaning {
        NONE, STRING, MAP, LIST, ENUM, DECIMAL, DATE, TIME, TIMESTAMP, INTERVAL, INTEGER, NULL, JSON, BSON, UUID,
        FLOAT16, OTHER;

        private static Meaning ofField(int id) {
            return id > 0 && id < OTHER.ordinal() ? values()[id] : OTHER;
        }
    }

    static final Annotation NONE = new Annotation(Meaning.NONE);

    private static final Annotation[] CONVERTED = {
        new Annotation(Meaning.STRING), new Annotation(Meaning.MAP), new Annotation(Meaning.MAP),
        new Annotation(Meaning.LIST), new Annotation(Meaning.ENUM), new Annotation(Meaning.DECIMAL),
        new Annotation(Meaning.DATE), time(Meaning.TIME, 1), time(Meaning.TIME, 2), time(Meaning.TIMESTAMP, 1),
        time(Meaning.TIMESTAMP, 2), integer(8, false), integer(16, false), integer(32, false), integer(64, false),
        integer(8, true), integer(16, true), integer(32, true), integer(64, true), new Annotation(Meaning.JSON),
        new Annotation(Meaning.BSON), new Annotation(Meaning.INTERVAL)};

    private static final int UNITS = 4;
    /** What interim releases of parquet-cpp wrote for a column whose values are all null. */
    private static final int INTERIM_NULL = 25;

    private Annotation(Meaning meaning) {
        this(meaning, 0, false, 0, false);
    }

    private static Annotation integer(int bits, boolean isSigned) {
        return new Annotation(Meaning.INTEGER, bits, isSigned, 0, false);
    }

    /** Converted types of time are instants. */
    private static Annotation time(Meaning meaning, int unit) {
        return new Annotation(meaning, 0, false, unit, true);
    }

    static Annotation ofConverted(int code) {
        if (code == INTERIM_NULL) {
            return new Annotation(Meaning.NULL);
        }
        return code >= 0 && code < CONVERTED.length ? CONVERTED[code] : new Annotation(Meaning.OTHER);
    }

    /** Reads a logical type: a union, which is a struct with one field set. */
    static Annotation read(ThriftReader in) {
        Annotation found = NONE;
        in.beginStruct();
        while (in.nextField()) {
            Meaning meaning = Meaning.ofField(in.fieldId());
            switch (meaning) {
                case TIME, TIMESTAMP -> found = readTime(in, meaning);
                case INTEGER -> {
                    int[] fields = in.integers(3);
                    found = integer(fields[1], fields[2] == 1);
                }
                default -> {
                    found = new Annotation(meaning);
                    in.skip();
                }
            }
        }
        return found;
    }

    private static Annotation readTime(ThriftReader in, Meaning meaning) {
        boolean isInstant = false;
        int unit = 0;
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> isInstant = in.bool();
                case 2 -> {
                    in.beginStruct();
                    while (in.nextField()) {
                        unit = in.fieldId() > 0 && in.fieldId() < UNITS ? in.fieldId() : 0;
                        in.skip();
                    }
                }
                default -> in.skip();
            }
        }
        return new Annotation(meaning, 0, false, unit, isInstant);
    }
}
