package io.penstock.format.parquet;

import io.penstock.io.MalformedStoreException;

/**
 * What stands before a page.
 *
 * @param kind what it holds
 * @param uncompressedBytes its bytes once decompressed
 * @param compressedBytes its bytes in the file
 * @param crc the CRC-32 of those bytes; null if it has none
 * @param values how many levels or entries it has
 * @param encoding of the values; null if it is none of the format's
 * @param definitionEncoding of the definition levels of version 1; null if it is none of the format's
 * @param repetitionEncoding of the repetition levels of version 1; null if it is none of the format's
 * @param rows that start in a page of version 2; -1 for others
 * @param definitionBytes of the levels of a page of version 2
 * @param repetitionBytes of the levels of a page of version 2
 * @param compressed whether the values of a page of version 2 are
 */
record PageHeader(Kind kind, int uncompressedBytes, int compressedBytes, Integer crc, int values, Encoding encoding,
        Encoding definitionEncoding, Encoding repetitionEncoding, int rows, int definitionBytes, int repetitionBytes,
        boolean compressed) {

    /** Kinds of pages, in the order of their codes. */
    enum Kind { DATA, INDEX, DICTIONARY, DATA_V2 }

    /** The struct of the kind, as it is filled. */
    private static final class Body {
        private int values = -1;
        private int encoding = -1;
        private int definitionEncoding = -1;
        private int repetitionEncoding = -1;
        private int rows = -1;
        private int definitionBytes = -1;
        private int repetitionBytes = -1;
        private boolean compressed = true;
    }

    static PageHeader read(ThriftReader in) throws MalformedStoreException {
        int kind = -1;
        int uncompressedBytes = -1;
        int compressedBytes = -1;
        Integer crc = null;
        Body body = null;
        int bodyKind = -1;
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> kind = in.i32();
                case 2 -> uncompressedBytes = in.i32();
                case 3 -> compressedBytes = in.i32();
                case 4 -> crc = in.i32();
                case 5 -> {
                    body = readData(in);
                    bodyKind = Kind.DATA.ordinal();
                }
                case 7 -> {
                    body = readDictionary(in);
                    bodyKind = Kind.DICTIONARY.ordinal();
                }
                case 8 -> {
                    body = readDataV2(in);
                    bodyKind = Kind.DATA_V2.ordinal();
                }
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        if (kind < 0 || kind >= Kind.values().length || uncompressedBytes < 0 || compressedBytes < 0) {
            throw in.malformed("a page of kind " + kind + ", " + compressedBytes + " bytes, " + uncompressedBytes
                    + " uncompressed", "kind 0 to 3 and sizes");
        }
        if (kind == Kind.INDEX.ordinal()) {
            body = new Body();
        } else if (bodyKind != kind || body.values < 0) {
            throw in.malformed("a page of kind " + kind + " without its own header", "one");
        }
        if (kind == Kind.DATA_V2.ordinal() && (body.definitionBytes < 0 || body.repetitionBytes < 0 || body.rows < 0
                || (long) body.definitionBytes + body.repetitionBytes > Math.min(compressedBytes, uncompressedBytes))) {
            throw in.malformed("levels of " + body.repetitionBytes + " and " + body.definitionBytes
                    + " bytes of " + body.rows + " rows in a page of " + compressedBytes, "no more than the page");
        }
        return new PageHeader(Kind.values()[kind], uncompressedBytes, compressedBytes, crc, body.values,
                Encoding.of(body.encoding), Encoding.of(body.definitionEncoding),
                Encoding.of(body.repetitionEncoding), body.rows, body.definitionBytes, body.repetitionBytes,
                body.compressed);
    }

    private static Body readData(ThriftReader in) throws MalformedStoreException {
        Body body = new Body();
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> body.values = in.i32();
                case 2 -> body.encoding = in.i32();
                case 3 -> body.definitionEncoding = in.i32();
                case 4 -> body.repetitionEncoding = in.i32();
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        return body;
    }

    private static Body readDictionary(ThriftReader in) throws MalformedStoreException {
        Body body = new Body();
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> body.values = in.i32();
                case 2 -> body.encoding = in.i32();
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        return body;
    }

    private static Body readDataV2(ThriftReader in) throws MalformedStoreException {
        Body body = new Body();
        int outer = in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> body.values = in.i32();
                case 3 -> body.rows = in.i32();
                case 4 -> body.encoding = in.i32();
                case 5 -> body.definitionBytes = in.i32();
                case 6 -> body.repetitionBytes = in.i32();
                case 7 -> body.compressed = in.bool();
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        return body;
    }
}
