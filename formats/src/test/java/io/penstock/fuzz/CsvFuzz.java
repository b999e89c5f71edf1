// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

/** CSV, and the JSON beside it that says how it is read. */
final class CsvFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("csv", "csv", "x.csv", "x.csv.table.json")
            .seededBy(("a,b,c,d,e\n1,1.5e3,true,2024-02-29,\"x, \"\"y\"\"\"\n,NA,false,1969-12-31,\"two\r\nlines\"\r\n"
                    + "-9223372036854775808,.1,TRUE,2000-01-01,z").getBytes(UTF_8))
            .seededBy("\ufefft;x\n2024-01-02T03:04:05.678Z;1,5\n2024-01-02 03:04+02:00;-2\n\n;inf\n".getBytes(UTF_8),
                    ("{\"decimal\": \",\", \"ragged\": \"pad\", \"columns\": {\"x\": {\"type\": \"f32\","
                            + " \"missing\": 0}}}").getBytes(UTF_8))
            .seededBy("k|v|w\na|1|2\nb|2\na|3|4|5\n".getBytes(UTF_8),
                    ("{\"ragged\": \"skip\", \"columns\": {\"k\": \"category\"}, \"features\": {\"f\":"
                            + " {\"columns\": [\"v\", \"w\"], \"mask\": true}}}").getBytes(UTF_8));

    private CsvFuzz() {
    }
}
