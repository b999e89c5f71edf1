package io.penstock.format.safetensors;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A {@code *.safetensors.index.json}, which says which tensor is in which file beside it:
 *
 * <pre>{@code {"metadata": {...}, "weight_map": {"embed": "model-00001-of-00002.safetensors", ...}} }</pre>
 *
 * @param path the index
 * @param weightMap the file of each tensor, in the order of the index
 */
record SafetensorsIndex(Location path, Map<String, String> weightMap) {

    static final String ENDING = ".safetensors.index.json";

    static SafetensorsIndex read(Location path) throws IOException {
        byte[] text;
        try (InputStream in = path.newInputStream()) {
            text = in.readNBytes(SafetensorsHeader.MAX_HEADER_BYTES + 1);
        }
        if (text.length > SafetensorsHeader.MAX_HEADER_BYTES) {
            throw new MalformedStoreException(path, text.length, "a longer index", "at most "
                    + SafetensorsHeader.MAX_HEADER_BYTES + " bytes");
        }
        Object map;
        try {
            map = Json.object(Json.parse(text)).get("weight_map");
        } catch (JsonException e) {
            throw new MalformedStoreException(path, Math.max(e.offset(), 0), e.found(), e.expected());
        }
        if (!(map instanceof Map<?, ?> files)) {
            throw new MalformedStoreException(path, "an index without an object weight_map",
                    "one from tensors to files");
        }
        Map<String, String> weightMap = new LinkedHashMap<>();
        for (Map.Entry<?, ?> each : files.entrySet()) {
            if (!(each.getValue() instanceof String file)) {
                throw new MalformedStoreException(path, "tensor '" + each.getKey() + "' has no name of a file",
                        "a string");
            }
            weightMap.put((String) each.getKey(), file);
        }
        return new SafetensorsIndex(path, weightMap);
    }

    /** The names of the files, each once, sorted. */
    List<String> shards() {
        return weightMap.values().stream().distinct().sorted().toList();
    }

    /** Where a file is. No name leads out of the index's folder. */
    Location resolve(String shard) throws MalformedStoreException {
        return path.parent().inside(shard).orElseThrow(() -> new MalformedStoreException(path,
                "the file name '" + shard + "'", "a name within the index's folder"));
    }
}
