// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import io.penstock.io.Location;
import io.penstock.io.publish.JsonFile;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * A {@code *.safetensors.index.json}. It maps each tensor to a file in or below its folder:
 *
 * <pre>{@code {"metadata": {...}, "weight_map": {"embed": "model-00001-of-00002.safetensors", ...}} }</pre>
 */
record SafetensorsIndex(Location path, Map<String, String> weightMap) {

    static final String ENDING = ".safetensors.index.json";

    static SafetensorsIndex read(Location path) throws IOException {
        return JsonFile.read(path, "an index of safetensors", SafetensorsHeader.MAX_HEADER_BYTES, fields -> {
            SafetensorsIndex index = new SafetensorsIndex(path, fields.object("weight_map").texts());
            index.shards().forEach(shard -> path.parent().below(shard));
            return index;
        });
    }

    List<String> shards() {
        return weightMap.values().stream().distinct().sorted().toList();
    }

    List<String> tensorsIn(String shard) {
        return weightMap.keySet().stream().filter(name -> shard.equals(weightMap.get(name))).toList();
    }
}
