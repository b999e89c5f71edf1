// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a tensor store contains besides its tensors. */
record StoreDetails(Map<String, String> metadata, boolean hasAttributes, Set<String> unread) {

    static StoreDetails of(TensorStore store) throws IOException {
        Map<String, @Nullable Object> details = store.inspect(Inspection.Depth.STRUCTURE, Progress.NONE).details();
        Map<String, String> metadata = new LinkedHashMap<>();
        if (details.get("metadata") instanceof Map<?, ?> found) {
            found.forEach((name, text) -> metadata.put(name.toString(), text.toString()));
        }
        return new StoreDetails(metadata, details.containsKey("attributes"), store.unread().keySet());
    }

    void lose(Conversion conversion, boolean keepsMetadata) {
        conversion.lose("metadata", keepsMetadata ? Set.of() : metadata.keySet());
        if (hasAttributes) {
            conversion.lose("attributes");
        }
        conversion.lose("unreadable tensors", unread);
    }
}
