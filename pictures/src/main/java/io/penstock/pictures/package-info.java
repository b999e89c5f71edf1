// SPDX-License-Identifier: Apache-2.0
/**
 * Pictures as fields of samples: {@link io.penstock.pictures.Pictures} are those of a folder or another store, with
 * their classes; {@link io.penstock.pictures.ImageDecoder} decodes a column of any dataset of records.
 */
@NullMarked
package io.penstock.pictures;

import org.jspecify.annotations.NullMarked;
