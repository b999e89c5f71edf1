// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.json.Json;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A column of a table that the store cannot read; the others are read. */
public record UnreadColumn(String name, String type, String reason) {

    /** Returns the first reason of each name, as a store gives them. */
    public static Map<String, String> reasons(List<UnreadColumn> columns) {
        return columns.stream().collect(Collectors.toMap(UnreadColumn::name, UnreadColumn::reason,
                (first, _) -> first));
    }

    /** Adds the columns to what an inspection says of a table; nothing if there are none. */
    public static void describe(List<UnreadColumn> columns, Map<String, @Nullable Object> table) {
        if (!columns.isEmpty()) {
            table.put("unsupported", columns.stream().map(column -> {
                return Json.members("name", column.name, "type", column.type, "reason", column.reason);
            }).toList());
        }
    }

    @Override
    public String toString() {
        return name + ": " + type + " (" + reason + ")";
    }
}
