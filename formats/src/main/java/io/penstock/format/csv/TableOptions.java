// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the rows of a table of text are read: the dialect of its files, the types of its columns, and what becomes of
 * missing values. Beside a table {@code clicks.csv}, a file {@code clicks.csv.table.json} may say the same as JSON:
 *
 * {@snippet lang=json :
 * {"delimiter": ";", "decimal": ",", "ragged": "skip",
 *  "columns": {"age": "f32", "site": "category", "user": "hash:1048576", "note": "skip"},
 *  "features": {"x": {"columns": ["age", "height"], "missing": 0, "mask": true}}}
 * }
 *
 * @param delimiter what separates the fields; empty to find it in the first line: a comma, or else a semicolon, a tab
 *     or a vertical bar
 * @param quote what begins and ends a field that may contain anything; empty if nothing does
 * @param header whether the first row has the names of the columns
 * @param names the names of the columns instead of those of a header; empty for {@code f0}, {@code f1} and so on
 * @param decimal what precedes the fraction of a number: {@code .} or {@code ,}
 * @param missingWords the fields that are missing values, empty ones among them; in columns of text they are texts
 * @param ragged what becomes of rows with too many or too few fields
 * @param columns the types of columns by name, and how they treat missing values; others are found
 * @param features columns of numbers that are one column of the table, by its name
 */
public record TableOptions(Optional<Character> delimiter, Optional<Character> quote, boolean header,
        List<String> names, char decimal, List<String> missingWords, RaggedRows ragged, Map<String, Declared> columns,
        Map<String, Features> features) {

    /** Commas or what the first line has, double quotes, a header, and all types found. */
    public static final TableOptions DEFAULT = new TableOptions(Optional.empty(), Optional.of('"'), true, List.of(),
            '.', List.of("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
                    "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"), RaggedRows.REFUSE, Map.of(), Map.of());

    /** What becomes of a row with more or fewer fields than there are columns. */
    public enum RaggedRows {
        /** Opening the table fails, and names the line. */
        REFUSE,
        /** Fields that are not there are missing values; those that are too many are dropped. */
        PAD,
        /** The row is left out. */
        SKIP
    }

    /**
     * The declared type of a column.
     *
     * @param type {@code i32}, {@code i64}, {@code f32}, {@code f64}, {@code bool}, {@code date}, {@code timestamp[us]}
     *     (or {@code s}, {@code ms}, {@code ns}), {@code text}, {@code category}, {@code hash:BUCKETS}, {@code skip};
     *     or {@code found}
     * @param missing the number that stands for missing values, which may be NaN; empty if the row has no value then
     */
    public record Declared(String type, Optional<Double> missing) {

        /** Refuses a type that does not exist. */
        public Declared {
            if (!type.equals("found")) {
                ColumnType.parse(type);
            }
        }
    }

    /**
     * A column of rows of numbers.
     *
     * @param columns the columns whose numbers are in a row, in this order
     * @param dtype what they become: {@code f32}, {@code f64}, {@code i32} or {@code i64}
     * @param missing the number that stands for missing values, by default NaN; empty if a row with one has no value
     * @param mask whether a further column, {@code NAME.mask}, has a 1 for each number that is there and a 0 for others
     */
    public record Features(List<String> columns, DType dtype, Optional<Double> missing, boolean mask) {

        /** Refuses types of numbers that fields are not parsed to. */
        public Features {
            columns = List.copyOf(columns);
            ColumnType type = ColumnType.parse(dtype.toString().toLowerCase(Locale.ROOT));
            if (!type.kind().isNumber() || columns.isEmpty()) {
                throw new IllegalArgumentException("found features of " + dtype + " of the columns " + columns
                        + ", expected one column or more, as f32, f64, i32 or i64");
            }
            if (missing.isPresent() && !dtype.isFloat() && missing.get() != Math.rint(missing.get())) {
                throw new IllegalArgumentException("found " + missing.get() + " for missing values of " + dtype
                        + ", expected an integer");
            }
        }

        /**
         * Creates features of {@code f32}, in which missing values are NaN.
         *
         * @param columns the columns
         * @return the features
         */
        public static Features of(String... columns) {
            return new Features(List.of(columns), DType.F32, Optional.of(Double.NaN), false);
        }

        /**
         * {@return these features with another number for missing values}
         *
         * @param value the number
         */
        public Features withMissing(double value) {
            return new Features(columns, dtype, Optional.of(value), mask);
        }

        /** {@return these features with a mask beside them} */
        public Features withMask() {
            return new Features(columns, dtype, missing, true);
        }
    }

    /**
     * Copies the lists and checks the characters.
     *
     * @throws IllegalArgumentException if two of the delimiter, the quote, the decimal point and the ends of lines are
     *     the same, or one is not ASCII
     */
    public TableOptions {
        names = List.copyOf(names);
        missingWords = List.copyOf(missingWords);
        columns = Map.copyOf(columns);
        features = Collections.unmodifiableMap(new LinkedHashMap<>(features));
        List<Character> special = new ArrayList<>(List.of('\n', '\r', decimal));
        delimiter.ifPresent(special::add);
        quote.ifPresent(special::add);
        if (special.stream().distinct().count() != special.size() || special.stream().anyMatch(c -> c > 0x7E)
                || decimal != '.' && decimal != ',') {
            throw new IllegalArgumentException("found the delimiter " + shown(delimiter) + ", the quote " + shown(quote)
                    + " and the decimal point '" + decimal + "', expected three different characters of ASCII, the last"
                    + " '.' or ','");
        }
    }

    private static String shown(Optional<Character> character) {
        return character.map(c -> Json.write(c.toString())).orElse("none");
    }

    /**
     * {@return these options with a delimiter}
     *
     * @param character what separates the fields
     */
    public TableOptions withDelimiter(char character) {
        return new TableOptions(Optional.of(character), quote, header, names, decimal, missingWords, ragged, columns,
                features);
    }

    /**
     * {@return these options with names of the columns, for files without a header}
     *
     * @param all the names
     */
    public TableOptions withNames(String... all) {
        return new TableOptions(delimiter, quote, false, List.of(all), decimal, missingWords, ragged, columns,
                features);
    }

    /**
     * {@return these options with a decimal point}
     *
     * @param character a point or a comma
     */
    public TableOptions withDecimal(char character) {
        return new TableOptions(delimiter, quote, header, names, character, missingWords, ragged, columns, features);
    }

    /**
     * {@return these options with other words for missing values}
     *
     * @param words the fields that are missing values
     */
    public TableOptions withMissingWords(String... words) {
        return new TableOptions(delimiter, quote, header, names, decimal, List.of(words), ragged, columns, features);
    }

    /**
     * {@return these options with another policy for ragged rows}
     *
     * @param policy the policy
     */
    public TableOptions withRagged(RaggedRows policy) {
        return new TableOptions(delimiter, quote, header, names, decimal, missingWords, policy, columns, features);
    }

    /**
     * {@return these options with the type of a column}
     *
     * @param name the column's name
     * @param type the type, as in {@link Declared}
     * @throws IllegalArgumentException if there is no such type
     */
    public TableOptions withColumn(String name, String type) {
        return withColumn(name, new Declared(type, Optional.empty()));
    }

    /**
     * {@return these options with the type of a column and a number for its missing values}
     *
     * @param name the column's name
     * @param declared the type
     */
    public TableOptions withColumn(String name, Declared declared) {
        Map<String, Declared> more = new LinkedHashMap<>(columns);
        more.put(name, declared);
        return new TableOptions(delimiter, quote, header, names, decimal, missingWords, ragged, more, features);
    }

    /**
     * {@return these options with columns of numbers as one column}
     *
     * @param name its name
     * @param those the columns
     */
    public TableOptions withFeatures(String name, Features those) {
        Map<String, Features> more = new LinkedHashMap<>(features);
        more.put(name, those);
        return new TableOptions(delimiter, quote, header, names, decimal, missingWords, ragged, columns, more);
    }

    /**
     * Reads options from JSON, as in the file {@code NAME.table.json}.
     *
     * @param json the text
     * @return the options
     * @throws IllegalArgumentException if it is not JSON, or not that of options
     */
    public static TableOptions parse(String json) {
        JsonFields fields = JsonFields.parse(json, "a description of a table");
        TableOptions none = DEFAULT;
        Optional<Character> delimiter = fields.has("delimiter") ? character(fields, "delimiter") : none.delimiter;
        Optional<Character> quote = fields.has("quote") ? character(fields, "quote") : none.quote;
        List<String> names = fields.has("names") ? fields.texts("names") : List.of();
        boolean header = fields.has("header") ? fields.truth("header") : names.isEmpty();
        char decimal = fields.has("decimal") ? character(fields, "decimal").orElse('.') : none.decimal;
        List<String> words = fields.has("missing_words") ? fields.texts("missing_words") : none.missingWords;
        RaggedRows ragged = fields.has("ragged") ? ragged(fields) : none.ragged;
        Map<String, Declared> columns = new LinkedHashMap<>();
        JsonFields declared = fields.objectIfThere("columns");
        if (declared != null) {
            for (String name : declared.names()) {
                columns.put(name, declared(declared, name));
            }
        }
        Map<String, Features> features = new LinkedHashMap<>();
        JsonFields groups = fields.objectIfThere("features");
        if (groups != null) {
            for (String name : groups.names()) {
                features.put(name, features(groups.object(name)));
            }
        }
        fields.end();
        return new TableOptions(delimiter, quote, header, names, decimal, words, ragged, columns, features);
    }

    private static Features features(JsonFields group) {
        DType dtype = DType.of(Optional.ofNullable(group.textIfThere("type")).orElse("f32"));
        Optional<Double> missing = group.has("missing") ? missing(group)
                : dtype.isFloat() ? Optional.of(Double.NaN) : Optional.empty();
        Features features = new Features(group.texts("columns"), dtype, missing,
                group.has("mask") && group.truth("mask"));
        group.end();
        return features;
    }

    private static Optional<Character> character(JsonFields fields, String key) {
        String text = fields.text(key);
        if (text.length() > 1) {
            throw fields.wrong(key, Json.shown(text), "one character");
        }
        return text.isEmpty() ? Optional.empty() : Optional.of(text.charAt(0));
    }

    private static RaggedRows ragged(JsonFields fields) {
        String text = fields.text("ragged");
        return Arrays.stream(RaggedRows.values()).filter(one -> one.toString().toLowerCase(Locale.ROOT).equals(text))
                .findFirst().orElseThrow(() -> fields.wrong("ragged", Json.shown(text), "refuse, pad or skip"));
    }

    private static Declared declared(JsonFields columns, String name) {
        Object value = columns.take(name);
        if (value instanceof String type) {
            return new Declared(type, Optional.empty());
        }
        if (!(value instanceof Map)) {
            throw columns.wrong(name, Json.shown(value), "a type, or an object with 'type' and 'missing'");
        }
        JsonFields fields = JsonFields.parse(Json.write(value), "a description of the column '" + name + "'");
        String type = Optional.ofNullable(fields.textIfThere("type")).orElse("found");
        Optional<Double> missing = fields.has("missing") ? missing(fields) : Optional.empty();
        fields.end();
        return new Declared(type, missing);
    }

    /** Returns the number that a field says; empty if it says {@code "null"}. */
    private static Optional<Double> missing(JsonFields fields) {
        @Nullable Object value = fields.take("missing");
        if (value == null || value.equals("null")) {
            return Optional.empty();
        }
        return Optional.of(value.equals("nan") ? Double.NaN : fields.finite("missing", value));
    }

    /** Returns what an index depends on, as one text. */
    String indexed() {
        try {
            return Json.write(Json.members("delimiter", delimiter.map(String::valueOf).orElse(""), "quote",
                    quote.map(String::valueOf).orElse(""), "header", header, "names", names, "decimal",
                    String.valueOf(decimal), "words", missingWords, "ragged", ragged.toString(), "categories",
                    columns.entrySet().stream().filter(entry -> entry.getValue().type.equals("category"))
                            .map(Map.Entry::getKey).sorted().toList()));
        } catch (JsonException e) {
            throw new IllegalStateException(e);
        }
    }
}
