// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

/** JSON lines as records, whole and by fields. */
final class JsonLinesFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("jsonl", "jsonl", "x.jsonl", "x.jsonl.table.json")
            .seededBy("{\"text\": \"a\\u00e4\", \"n\": 1}\n\n  \r\n{\"text\": \n[1]\n{\"n\": 2.5}".getBytes(UTF_8))
            .seededBy("{\"t\": \"x\", \"n\": 7, \"w\": \"2024-01-01\"}\n{\"n\": null}\n".getBytes(UTF_8),
                    ("{\"columns\": {\"t\": \"text\", \"n\": {\"type\": \"f32\", \"missing\": \"nan\"},"
                            + " \"w\": \"date\"}}").getBytes(UTF_8));

    private JsonLinesFuzz() {
    }
}
