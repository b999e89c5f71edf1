// SPDX-License-Identifier: Apache-2.0
/**
 * What the formats of tables share: shards of one schema, Hive's partitions, blocks of columns, records as JSON.
 */
@NullMarked
package io.penstock.format.table;

import org.jspecify.annotations.NullMarked;
