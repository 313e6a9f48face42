{{ config(materialized='incremental') }}

select station, day, temperature
from {{ source('raw', 'readings') }}
{% if is_incremental() %}
where day > (select max(day) from {{ this }})
{% endif %}
