package io.penstock.format.parquet;

import io.penstock.io.MalformedStoreException;

/**
 * What a schema says of a node beyond its physical type: a logical type, or the converted type that older writers put
 * in its place.
 *
 * @param meaning what values mean
 * @param bits of an integer
 * @param signed whether an integer has a sign
 * @param unit of a time: {@code ms}, {@code us} or {@code ns}
 * @param utc whether a timestamp is an instant
 */
record Annotation(Meaning meaning, int bits, boolean signed, String unit, boolean utc) {

    /** What values mean. */
    enum Meaning {
        NONE, STRING, MAP, LIST, ENUM, DECIMAL, DATE, TIME, TIMESTAMP, INTERVAL, INTEGER, NULL, JSON, BSON, UUID,
        FLOAT16, OTHER
    }

    static final Annotation NONE = new Annotation(Meaning.NONE);

    private static final String[] UNITS = {"", "ms", "us", "ns"};

    private static final Annotation[] CONVERTED = {
        new Annotation(Meaning.STRING), new Annotation(Meaning.MAP), new Annotation(Meaning.MAP),
        new Annotation(Meaning.LIST), new Annotation(Meaning.ENUM), new Annotation(Meaning.DECIMAL),
        new Annotation(Meaning.DATE), time(Meaning.TIME, "ms"), time(Meaning.TIME, "us"),
        time(Meaning.TIMESTAMP, "ms"), time(Meaning.TIMESTAMP, "us"), integer(8, false), integer(16, false),
        integer(32, false), integer(64, false), integer(8, true), integer(16, true), integer(32, true),
        integer(64, true), new Annotation(Meaning.JSON), new Annotation(Meaning.BSON),
        new Annotation(Meaning.INTERVAL)};

    private Annotation(Meaning meaning) {
        this(meaning, 0, false, "", false);
    }

    private static Annotation integer(int bits, boolean signed) {
        return new Annotation(Meaning.INTEGER, bits, signed, "", false);
    }

    /** Converted types of time are instants. */
    private static Annotation time(Meaning meaning, String unit) {
        return new Annotation(meaning, 0, false, unit, true);
    }

    /** The annotation that a converted type stands for. */
    static Annotation ofConverted(int code) {
        return code >= 0 && code < CONVERTED.length ? CONVERTED[code] : new Annotation(Meaning.OTHER);
    }

    /** Reads a logical type: a union, that is a struct of which one field is set. */
    static Annotation read(ThriftReader in) throws MalformedStoreException {
        Annotation found = NONE;
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 7 -> found = readTime(in, Meaning.TIME);
                case 8 -> found = readTime(in, Meaning.TIMESTAMP);
                case 10 -> found = readInteger(in);
                default -> {
                    found = new Annotation(meaning(in.fieldId()));
                    in.skip();
                }
            }
        }
        in.endStruct(outer);
        return found;
    }

    private static Meaning meaning(int field) {
        return switch (field) {
            case 1 -> Meaning.STRING;
            case 2 -> Meaning.MAP;
            case 3 -> Meaning.LIST;
            case 4 -> Meaning.ENUM;
            case 5 -> Meaning.DECIMAL;
            case 6 -> Meaning.DATE;
            case 11 -> Meaning.NULL;
            case 12 -> Meaning.JSON;
            case 13 -> Meaning.BSON;
            case 14 -> Meaning.UUID;
            case 15 -> Meaning.FLOAT16;
            default -> Meaning.OTHER;
        };
    }

    private static Annotation readTime(ThriftReader in, Meaning meaning) throws MalformedStoreException {
        boolean utc = false;
        String unit = "";
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> utc = in.bool();
                case 2 -> unit = readUnit(in);
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        return new Annotation(meaning, 0, false, unit, utc);
    }

    private static String readUnit(ThriftReader in) throws MalformedStoreException {
        String unit = "";
        int outer = in.beginStruct();
        while (in.nextField()) {
            unit = in.fieldId() > 0 && in.fieldId() < UNITS.length ? UNITS[in.fieldId()] : "";
            in.skip();
        }
        in.endStruct(outer);
        return unit;
    }

    private static Annotation readInteger(ThriftReader in) throws MalformedStoreException {
        int bits = 0;
        boolean signed = false;
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> bits = in.i8();
                case 2 -> signed = in.bool();
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        return integer(bits, signed);
    }
}
