// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import java.io.Serializable;

/**
 * What a task tells the driver of the part that it wrote.
 *
 * @param description the part, as {@link io.penstock.format.manifest.ManifestPart#toJson} has it
 * @param filteredDocuments documents that were too short or too long
 */
record PartResult(String description, long filteredDocuments) implements Serializable {
}
